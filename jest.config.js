import { bundleTypebox } from './packages/lab/scripts/bundle-typebox.mjs';
import { sources } from './packages/lab/scripts/sources.mjs';

const mapped = [...sources(), ...(await bundleTypebox())];

/** Every package's tests, in one run: sources are compiled on the fly, so that no build is needed first. */
export default {
  testEnvironment: './jest.environment.js',
  moduleNameMapper: Object.fromEntries(mapped.map(([name, file]) => [`^${name}$`, file])),
  testMatch: ['<rootDir>/packages/*/test/**/*.test.ts', '<rootDir>/examples/*/test/**/*.test.ts', '<rootDir>/tests/**/*.test.ts'],
  // A machine may be busy with other suites, and servers with other clients.
  testTimeout: 60_000,
  // Some wait for servers while others compute: four keep two cores busy.
  maxWorkers: 4,
  // The modules of each test file stay in a worker's memory, and a large one collects garbage more than it tests: after a few files it starts anew.
  workerIdleMemoryLimit: 1_000_000_000,
  testSequencer: './jest.sequencer.js',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '\\.ts$': ['@swc/jest', { jsc: { parser: { syntax: 'typescript', decorators: true }, target: 'es2022' }, module: { type: 'es6' } }],
  },
};
