import { describeWithMariadb } from '@strongroom/lab';
import { tortureMariadb } from '../src/torture/torture-database.ts';
import { killCases } from './kill-scenarios.ts';

describeWithMariadb('a server that is killed while it changes MariaDB', () => killCases(tortureMariadb));
