import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import Sequencer from '@jest/test-sequencer';

/** How many seconds the slow files take. */
const seconds = JSON.parse(readFileSync(new URL('jest.durations.json', import.meta.url), 'utf8'));

/** Begins with the files that take longest: a worker that came to one of them last would hold up the whole run. */
export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const known = (test) => seconds[relative(test.context.config.rootDir, test.path).replaceAll('\\', '/')] ?? 0;
    return (await super.sort(tests)).sort((one, other) => known(other) - known(one));
  }
}
