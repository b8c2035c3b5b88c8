// `npm run consistency [-- --seconds=60] [--only=postgresql] [--faults=no]`: installs what is missing, builds, and checks what several servers on one store answer.
import { checkedRun } from './checked-run.mjs';
import { buildGoPrograms } from './setup.mjs';

const { consistencyArguments } = await import('../src/consistency/consistency-arguments.ts');
await checkedRun('consistency', consistencyArguments, { install: buildGoPrograms });
