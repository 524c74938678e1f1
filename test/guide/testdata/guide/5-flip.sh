kubectl -n trading patch manualschedule desk-override \
  --type=merge -p '{"spec":{"enabled":true}}'
