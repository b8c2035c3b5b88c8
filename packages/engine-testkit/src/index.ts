export { manualClock, type ManualClock } from './manual-clock.ts';
export { CallFailed, mountForTest, type Call, type TestMount, type TestMountOptions } from './mount-for-test.ts';
