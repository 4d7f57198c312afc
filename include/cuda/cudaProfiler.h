// SPDX-License-Identifier: Apache-2.0
// cuProfilerStart and cuProfilerStop are declared with the rest of the driver interface.
#pragma once
#include "cuda.h"
