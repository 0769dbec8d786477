// A control loop that never waits: each pass spends at most 4 steps on the target and reads the best answer so far.
#include <arcreach.h>

static ar_solver solver;
static ar_target target = {AR_POSITION, {0, 0, AR_REACH / 2}, {0, 0, 1}, {0}};
static ar_real q[AR_DOF];

void setup() {
  Serial.begin(115200);
  ar_begin(&solver, &target, 0, 0);
}

void loop() {
  ar_result result;
  if (ar_step(&solver, 4) == AR_WORKING) return;
  ar_answer(&solver, q, &result);
  Serial.println(result.status);
  ar_begin(&solver, &target, q, 0);  // the next target, from where the robot stands
  delay(1000);
}
