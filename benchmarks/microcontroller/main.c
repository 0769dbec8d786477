/* Solve the targets of TARGETS_H and print status, steps and the bits of every coordinate; the emulated controller also
   prints the instructions of each solve, which its timer counts one by one, and the stack that a solve takes. */
#include "arcreach.h"

#include <string.h>

#include TARGETS_H

#ifdef __arm__
void print(const char *text);
#define TIMER ((volatile uint32_t *)0x40000000u)
#define NOW() (TIMER[0x24 / 4])
#else
#include <stdio.h>
static void print(const char *text) { fputs(text, stdout); }
#define NOW() 0u
#endif

static ar_solver solver;
static ar_real q[AR_DOF];

static char *hex(char *to, uint32_t value) {
  int i;
  for (i = 28; i >= 0; i -= 4) *to++ = "0123456789abcdef"[(value >> i) & 15u];
  *to++ = ' ';
  return to;
}

static int solve(const ar_target *target, ar_result *result) {
#ifdef BUDGET
  /* A loop that reads the best answer so far between any two steps. */
  int status = ar_begin(&solver, target, 0, &OPTIONS);
  while (status == AR_WORKING) {
    ar_answer(&solver, q, result);
    status = ar_step(&solver, BUDGET);
  }
  ar_answer(&solver, q, result);
  return status;
#else
  return ar_solve(&solver, target, 0, &OPTIONS, q, result);
#endif
}

static void read_target(const uint32_t *row, ar_target *target) {
  float numbers[12];
  int i;
  memcpy(numbers, row, sizeof numbers);
  target->mode = MODE;
  for (i = 0; i < 9; i++) target->rotation[i] = (ar_real)numbers[i];
  for (i = 0; i < 3; i++) target->axis[i] = (ar_real)numbers[3 * i + 2];
  for (i = 0; i < 3; i++) target->position[i] = (ar_real)numbers[9 + i];
}

#ifdef __arm__
/* Bytes of a marked stretch of stack that a solve overwrites. */
static uint32_t stack_of(const ar_target *target) {
  volatile uint32_t here, *low = &here - 2048;
  int i;
  for (i = 0; i < 2000; i++) low[i] = 0xA5A5A5A5u;
  (void)solve(target, 0);
  for (i = 0; i < 2000 && low[i] == 0xA5A5A5A5u; i++) {
  }
  return (uint32_t)((2048 - i) * 4);
}
#endif

int main(void) {
  static char line[64 + 20 * AR_DOF];
  ar_target target;
  char *end;
  int i, k;
#ifdef __arm__
  TIMER[0x2c / 4] = 0xffffffffu;
  TIMER[0x28 / 4] = 0;
  TIMER[0x14 / 4] = 1;
  TIMER[0] = 1;
#endif
  for (i = 0; i < TARGET_COUNT; i++) {
    ar_result result = {0, 0, 0, 0};
    uint32_t began;
    int status;
    read_target(TARGETS[i], &target);
    began = NOW();
    status = solve(&target, &result);
    end = hex(line, NOW() - began);
    end = hex(end, (uint32_t)status);
    end = hex(end, (uint32_t)result.steps);
    for (k = 0; k < AR_DOF; k++) {
      uint32_t bits[sizeof(ar_real) / 4];
      memcpy(bits, &q[k], sizeof bits);
      end = hex(end, bits[0]);
      if (sizeof(ar_real) == 8) end = hex(end, bits[sizeof(ar_real) / 4 - 1]);
    }
    end[-1] = '\n';
    *end = 0;
    print(line);
  }
#ifdef __arm__
  end = hex(line, stack_of(&target));
  end[-1] = '\n';
  *end = 0;
  print(line);
#endif
  return 0;
}
