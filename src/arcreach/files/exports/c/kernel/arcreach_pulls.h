/* Tendons of the robot: how far each is pulled out of the base, in metres. Their names are in arcreach_tendons.h. */
#ifndef ARCREACH_PULLS_H
#define ARCREACH_PULLS_H

#include "arcreach.h"
#include "arcreach_tendons.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Write the pulls[AR_TENDONS] at q[AR_DOF]: length inside the robot at rest minus length now. */
void ar_pulls(const ar_real *q, ar_real *pulls);

#if AR_PARALLEL
/* Find the sections' coordinates in q[AR_DOF] for pulls[AR_TENDONS], by least squares; the other coordinates of q are
   given. Limits are not applied. Only robots whose tendons all run parallel to the backbone have this function. */
void ar_from_pulls(const ar_real *pulls, ar_real *q);
#endif

#ifdef __cplusplus
}
#endif
#endif
