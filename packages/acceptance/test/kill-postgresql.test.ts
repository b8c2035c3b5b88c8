import { describe } from '@jest/globals';
import { COMMON_SCENARIOS } from '../src/torture/common-scenarios.ts';
import { databaseTarget } from '../src/torture/database-target.ts';
import { torturePostgres } from '../src/torture/torture-database.ts';
import { killCases } from './kill-cases.ts';

describe('a server that is killed while it changes PostgreSQL', () =>
  killCases(COMMON_SCENARIOS, 5, async () => databaseTarget(await torturePostgres())));
