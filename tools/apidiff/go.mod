module github.com/fivespot/fivespot/tools/apidiff

go 1.26.0

require (
	golang.org/x/exp v0.0.0-20260410095643-746e56fc9e2f
	golang.org/x/tools v0.51.0
)

require (
	golang.org/x/mod v0.41.0 // indirect
	golang.org/x/sync v0.23.0 // indirect
)
