import { jest } from '@jest/globals';
import { findOpensearch, startOpensearch } from '@strongroom/lab';
import { wholeSuite } from './suites/whole-suite.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

const found = await findOpensearch();

// All in one file, because a server takes its time and memory.
wholeSuite('OpenSearch', 'missing' in found ? found.missing : undefined, startOpensearch);
