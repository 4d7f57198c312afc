// SPDX-License-Identifier: Apache-2.0
// Three-dimensional copies and fills against plain loops; registered host memory; cooperative launches.
#include <numeric>
#include <vector>

#include "registered_kernels.h"

namespace {

using namespace warplens::cuda::test;

class Box : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    cudaGetLastError();
  }
};

constexpr size_t kX = 20, kY = 6, kZ = 5;

TEST_F(Box, a_part_of_a_volume_is_copied_there_and_back) {
  std::vector<unsigned char> host(kX * kY * kZ), back(kX * kY * kZ, 255);
  std::iota(host.begin(), host.end(), static_cast<unsigned char>(1));
  cudaPitchedPtr volume;
  ASSERT_EQ(cudaMalloc3D(&volume, {kX, kY, kZ}), cudaSuccess);
  EXPECT_GE(volume.pitch, kX);
  EXPECT_EQ(cudaMemset3D(volume, 9, {kX, kY, kZ}), cudaSuccess);
  cudaMemcpy3DParms p = {};
  p.srcPtr = {host.data(), kX, kX, kY};
  p.srcPos = {3, 1, 2};
  p.dstPtr = volume;
  p.dstPos = {4, 2, 1};
  p.extent = {10, 3, 2};
  p.kind = cudaMemcpyHostToDevice;
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  EXPECT_EQ(cudaMemset3DAsync({static_cast<char*>(volume.ptr) + 1, volume.pitch, kX, kY}, 7, {2, 2, kZ}, nullptr),
            cudaSuccess);
  cudaMemcpy3DParms all = {};
  all.srcPtr = volume;
  all.dstPtr = {back.data(), kX, kX, kY};
  all.extent = {kX, kY, kZ};
  all.kind = cudaMemcpyDeviceToHost;
  EXPECT_EQ(cudaMemcpy3DAsync(&all, nullptr), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  for (size_t z = 0; z < kZ; ++z)
    for (size_t y = 0; y < kY; ++y)
      for (size_t x = 0; x < kX; ++x) {
        unsigned char expected = 9;
        const bool copied = x >= 4 && x < 14 && y >= 2 && y < 5 && z >= 1 && z < 3;
        if (copied) expected = host[((z - 1 + 2) * kY + (y - 2 + 1)) * kX + (x - 4 + 3)];
        if (x >= 1 && x < 3 && y < 2) expected = 7;
        ASSERT_EQ(back[(z * kY + y) * kX + x], expected) << x << " " << y << " " << z;
      }
  p.extent = {10, 3, 5};  // beyond the volume's last slice
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.extent = {0, 3, 5};
  EXPECT_EQ(cudaMemcpy3D(&p), cudaSuccess);
  p.extent = {10, 7, 2};  // more rows than a slice has
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidValue);
  p.extent = {10, 3, 2};
  p.kind = static_cast<cudaMemcpyKind>(9);
  EXPECT_EQ(cudaMemcpy3D(&p), cudaErrorInvalidMemcpyDirection);
  p.kind = cudaMemcpyHostToDevice;
  p.srcPtr.pitch = 5;
  EXPECT_EQ(cudaMemcpy3DAsync(&p, nullptr), cudaErrorInvalidPitchValue);
  EXPECT_EQ(cudaMemcpy3D(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset3D(volume, 9, {kX, kY, kZ + 1}), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc3D(nullptr, {1, 1, 1}), cudaErrorInvalidValue);
}

TEST_F(Box, registered_host_memory_can_be_used_by_kernels) {
  std::vector<int> mine(64, 10);
  EXPECT_EQ(launch(twice, 1, 32, mine.data(), 'a', 0), cudaSuccess);  // n = 0: touches nothing
  ASSERT_EQ(cudaHostRegister(mine.data(), 128, cudaHostRegisterMapped), cudaSuccess);
  int* device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(reinterpret_cast<void**>(&device), mine.data(), 0), cudaSuccess);
  EXPECT_EQ(device, mine.data());
  EXPECT_EQ(launch(twice, 1, 32, device, static_cast<unsigned char>(3), 32), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(mine[0], 23);
  EXPECT_EQ(mine[31], 23);
  EXPECT_EQ(mine[32], 10);
  cudaPointerAttributes at;
  EXPECT_EQ(cudaPointerGetAttributes(&at, mine.data()), cudaSuccess);
  EXPECT_EQ(at.type, cudaMemoryTypeHost);
  EXPECT_EQ(at.devicePointer, mine.data());
  unsigned flags = 0;
  EXPECT_EQ(cudaHostGetFlags(&flags, mine.data()), cudaSuccess);
  EXPECT_EQ(cudaHostGetFlags(nullptr, mine.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostGetFlags(&flags, &flags), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(mine.data()), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(mine.data() + 8, 4, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostUnregister(mine.data() + 8), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(mine.data()), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostRegister(nullptr, 4, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(mine.data(), 0, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(mine.data(), 4, 0x100), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostRegister(mine.data(), 4, cudaHostRegisterIoMemory), cudaErrorNotSupported);
  void* pinned = nullptr;
  ASSERT_EQ(cudaMallocHost(&pinned, 16), cudaSuccess);
  EXPECT_EQ(cudaHostRegister(pinned, 16, 0), cudaErrorHostMemoryAlreadyRegistered);
  // Afterwards it is out of reach again.
  EXPECT_EQ(launch(twice, 1, 32, mine.data(), 'a', 32), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
  EXPECT_EQ(mine[0], 23);
}

TEST_F(Box, blocks_of_a_cooperative_launch_meet) {
  int* p = device_ints(101);
  ASSERT_EQ(cudaMemset(p, 0, 404), cudaSuccess);
  void* list[] = {&p};
  EXPECT_EQ(cudaLaunchCooperativeKernel(&meet, 100, 1, list, 0, nullptr), cudaSuccess);
  std::vector<int> back(101);
  EXPECT_EQ(cudaMemcpy(back.data(), p, 404, cudaMemcpyDeviceToHost), cudaSuccess);
  for (const int sum : back) ASSERT_EQ(sum, 100);
  cudaLaunchAttribute attribute = {};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config = {100, 1, 0, nullptr, &attribute, 1};
  EXPECT_EQ(cudaLaunchKernelExC(&config, &meet, list), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(back.data(), p, 404, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back[100], 200);
}

TEST_F(Box, a_cooperative_launch_must_fit_on_the_device) {
  int *p = device_ints(1 << 20), sms = 0, blocks = 0;
  ASSERT_EQ(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &meet, 1024, 0), cudaSuccess);
  EXPECT_EQ(blocks, 2);  // 2048 threads an SM
  void* list[] = {&p};
  const auto most = static_cast<unsigned>(sms * blocks);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&meet, most + 1, 1024, list, 0, nullptr), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&meet, 0, 1, list, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(cudaLaunchCooperativeKernel(&missing, 1, 1, list, 0, nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaLaunchCooperativeKernel(nullptr, 1, 1, list, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernelExC(nullptr, &meet, list), cudaErrorInvalidValue);
}

}  // namespace
