// SPDX-License-Identifier: Apache-2.0
// Where newer toolkits keep this file.
#pragma once
#include "../host_defines.h"
