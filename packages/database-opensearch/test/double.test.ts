import { jest } from '@jest/globals';
import { startOpensearchDouble } from '@strongroom/lab';
import { wholeSuite } from './suites/whole-suite.ts';

// The machine may be busy with other suites.
jest.setTimeout(60_000);

// The same as on a real server, so that the double cannot differ from it where it matters.
wholeSuite('a double of OpenSearch', undefined, startOpensearchDouble);
