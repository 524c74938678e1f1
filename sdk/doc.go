// SPDX-License-Identifier: Apache-2.0

// Package sdk makes a schedule provider from one function.
//
// A schedule is an object of a kind in the API group
// spotschedules.5spot.finos.org whose status says whether a machine is wanted
// now: status.active. 5-Spot reads that boolean from any such kind and moves the
// machines that refer to the object. A provider is the program that keeps the
// statuses of one kind up to date. Here is how to write one.
//
// # The type
//
// A kind is a struct. Its status is [contract.Status], alone or with fields of
// your own beside it, and a method says where that is:
//
//	type TideSchedule struct {
//		metav1.TypeMeta   `json:",inline"`
//		metav1.ObjectMeta `json:"metadata,omitempty"`
//
//		Spec   TideSpec        `json:"spec"`
//		Status contract.Status `json:"status,omitempty"`
//	}
//
//	func (s *TideSchedule) ScheduleStatus() *contract.Status { return &s.Status }
//
// Neither a list type nor generated code nor a scheme is needed. The kind's
// CustomResourceDefinition is namespaced and enables the status subresource.
//
// # The decision
//
// One function says what a schedule is at an instant:
//
//	func Evaluate(ctx context.Context, s *TideSchedule, now time.Time) (sdk.Decision, error) {
//		return sdk.Decision{Active: high, Until: turn, Reason: "HighTide"}, nil
//	}
//
// It is called when an object appears or is edited, and again at exactly the
// [Decision.Until] of its last answer: nothing polls. The clock is read once and
// given to it, so that a test can ask for any instant. The time zones of IANA are
// linked in: time.LoadLocation knows them in an image without files, too.
//
// Where there is no answer, the type of the error picks what happens. In each
// case status.active stays as it was and the Ready condition turns False, by
// which 5-Spot knows to leave the machines as they are.
//
//   - [InvalidSpec]: the spec is at fault. Nothing happens until it is edited.
//   - [NotReady]: something else is missing, for the reason given. Evaluate is
//     called again, after pauses that grow from one second to one minute.
//   - Any other error, and a panic: as NotReady, for [ReasonEvaluationFailed]
//     or [ReasonEvaluationPanicked].
//
// The text of an error is published in the status, where everybody who may read
// the object reads it: keep secrets, tokens and response bodies out.
//
// # Other objects
//
// A decision may depend on ConfigMaps, on Secrets and on objects of your own kinds
// in the namespace of the schedule. Declare what Evaluate reads, and read it:
//
//	provider := sdk.New(tideKind, Evaluate, sdk.WithReads(sdk.ConfigMaps))
//
//	func Evaluate(ctx context.Context, s *TideSchedule, now time.Time) (sdk.Decision, error) {
//		table, err := sdk.ConfigMaps.Get(ctx, s.Spec.Table)
//		if err != nil {
//			return sdk.Decision{}, err // not ready, and woken when the table appears
//		}
//		...
//	}
//
// Whoever read an object is evaluated again when it is created, edited or deleted,
// and nobody else is. No object is held in memory that no schedule depends on:
// each is followed by a watch of its own. See [Objects], and [ObjectsOf] for kinds
// of your own. Of Secrets, declare the names if you can choose them:
// sdk.Secrets.Named("tide-feed"). What is read of a Secret is taken out of every
// text that the sdk publishes or logs, which is a safety net and no licence.
//
// # Servers outside of the cluster
//
// A decision may depend on what a server says: a metric, a ticket. Evaluate does
// not ask it, since it has to be quick and to give the same answer for the same
// inputs. It says what is to be asked, and gets the last answer:
//
//	level, err := sdk.Ask(ctx, sdk.Question[float64]{
//		Server:   s.Spec.Server,
//		Request:  s.Spec.Gauge,
//		Interval: s.Spec.Interval.Duration,
//		Ask:      func(ctx context.Context) (float64, error) { return read(ctx, s.Spec) },
//	})
//	if err != nil {
//		return sdk.Decision{}, err // not ready, and woken by the next answer
//	}
//
// The provider asks in the background, with a timeout, with growing pauses after
// failures, and in such a way that a slow server delays no schedule that depends
// on another one. Evaluate is called again when the answer is another one. See
// [Question] and [Ask], and for how to go on with an old answer for a while
// [Answer].
//
// # The program
//
// [Main] is all of it, with flags, health, metrics, logs, and leader election
// for those who want a standby:
//
//	func main() {
//		sdk.Main(sdk.New(tideKind, Evaluate))
//	}
//
// It may run several kinds. [Run] does the same inside a program with flags of
// its own, and [Provider.Register] adds a provider to a manager of
// controller-runtime.
//
// # Tests
//
// Evaluate is an ordinary function of a spec and an instant, so its tests are
// tables that need nothing of this package. The package sdktest shows what a
// provider publishes in the course of a day or a week, other objects, answers and
// failures included, as a text to keep as a golden file; it needs no cluster
// either. The package sdktest/conformance checks the running program against the
// contract.
//
// # Rights
//
// The program's account needs get, list and watch on its kind, and get, update
// and patch on the kind's status; list and watch on what [WithReads] declares;
// with --leader-elect also get, create and update on leases in one namespace. It
// needs nothing else, in particular no right to record events. [Provider.Rules]
// returns these rights, to generate a manifest from or to test one against. A CRD
// or a right that is not there yet is waited for; the log and /readyz say for
// which.
//
// # What is written
//
// The status only, by merge patch, and only what changed: a schedule whose
// status is as it should be costs no request at all. status.lastTransitionTime
// moves when active flips and at no other time. Of the conditions only Ready is
// the sdk's; those of others, and fields of the status that are not the
// contract's, stay as they are, also when somebody writes at the same moment.
// Evaluate may set fields of the status of its own, and conditions of other
// types: they are published with the verdict, also beside an error. The fields
// of the contract are set by the sdk, whatever Evaluate leaves in them.
//
// # Metrics
//
// On /metrics, beside those of controller-runtime and of the Go runtime:
//
//   - fivespot_schedule_active{kind,namespace,name}, a gauge: the published
//     verdict, 1 or 0; absent before the first.
//   - fivespot_schedule_ready{kind,namespace,name}, a gauge: whether it is to be
//     trusted now, 1 or 0.
//   - fivespot_schedule_transitions_total{kind,namespace,name}, a counter of
//     flips of the published verdict since the program started; the first
//     verdict is none.
//   - fivespot_schedule_evaluation_errors_total{kind,reason}, a counter of
//     evaluations without a verdict.
//   - fivespot_schedule_questions_total{kind,result}, a counter of the times that a
//     server was to be asked: it "answered"; "refused", by an error of a type of
//     this package; "failed"; or was "skipped", since it fails or is slow.
//
// The series of an object go when the object goes. [WithMetricsName] adds names
// of the kind's own.
//
// # Compatibility
//
// What this package and those below it export is added to, and neither changed nor
// removed within a major version of the module; a check in tools/apidiff sees to
// it. That holds for what is documented of behaviour, too: reasons, metrics, flags,
// and when Evaluate is called. Texts of messages and logs may change at any time.
//
// A thing that is superseded is marked "Deprecated:" in its comment, which names
// what takes its place, and goes on to work for as long as the major version does,
// and for a year at least after the release that marked it. A new major version
// has a new import path, so that nothing changes for those who stay.
//
// Structs get new fields, whose zero values mean what was before: write literals
// with field names. Interfaces with unexported methods ([Readable]) get new
// methods.
package sdk
