/* Start an emulated Cortex-M4F; print and end by semihosting. */
#include <stdint.h>

extern uint32_t data_image, data_begin, data_end, bss_begin, bss_end, stack;
int main(void);
void print(const char *text);

static int call_host(int operation, const void *argument) {
  register int r0 __asm__("r0") = operation;
  register const void *r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
  return r0;
}

void print(const char *text) { call_host(4, text); }

static void end(int code) {
  uint32_t block[2] = {0x20026u, (uint32_t)code}; /* the application has ended */
  call_host(0x20, block);
  for (;;) {
  }
}

static void fault(void) {
  print("fault\n");
  end(99);
}

void reset(void) {
  uint32_t *from = &data_image, *to = &data_begin;
  *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20; /* CPACR: floating point on */
  __asm__ volatile("dsb\nisb");
  while (to < &data_end) *to++ = *from++;
  for (to = &bss_begin; to < &bss_end;) *to++ = 0;
  end(main());
}

typedef void (*handler)(void);
__attribute__((section(".vectors"), used)) const handler vectors[16] = {
    (handler)&stack, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault};
