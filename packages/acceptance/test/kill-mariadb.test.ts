import { describeWithMariadb } from '@strongroom/lab';
import { COMMON_SCENARIOS } from '../src/torture/common-scenarios.ts';
import { databaseTarget } from '../src/torture/database-target.ts';
import { tortureMariadb } from '../src/torture/torture-database.ts';
import { killCases } from './kill-cases.ts';

describeWithMariadb('a server that is killed while it changes MariaDB', () =>
  killCases(COMMON_SCENARIOS, 4, async () => databaseTarget(await tortureMariadb())),
);
