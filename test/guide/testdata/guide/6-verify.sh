# Your provider published its decision:
kubectl -n trading get manualschedule desk-override -o jsonpath='{.status.active}{"\n"}'

# 5-Spot resolved it — the SM carries a SpotScheduleResolved condition:
kubectl -n trading get scheduledmachine trading-desk-rack \
  -o jsonpath='{.status.spotSchedule}{"\n"}'
