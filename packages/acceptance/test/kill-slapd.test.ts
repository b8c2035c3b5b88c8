import { describeWithSlapd } from '@strongroom/lab';
import { DIRECTORY_SCENARIOS, directoryTarget } from '../src/torture/directory-target.ts';
import { tortureSlapd } from '../src/torture/torture-directory.ts';
import { killCases } from './kill-cases.ts';

describeWithSlapd('a server that is killed while it changes slapd', () =>
  killCases(DIRECTORY_SCENARIOS, 4, async () => directoryTarget(await tortureSlapd())),
);
