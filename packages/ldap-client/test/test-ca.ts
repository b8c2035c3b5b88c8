export { createTestCa, type TestCa, type TestCertificate } from '@strongroom/lab';
