// SPDX-License-Identifier: Apache-2.0
// Part of the one header of cooperative groups.
#pragma once
#include "../cooperative_groups.h"
