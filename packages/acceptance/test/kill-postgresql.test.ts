import { describe } from '@jest/globals';
import { torturePostgres } from '../src/torture/torture-database.ts';
import { killCases } from './kill-scenarios.ts';

describe('a server that is killed while it changes PostgreSQL', () => killCases(torturePostgres));
