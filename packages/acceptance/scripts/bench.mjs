// `npm run bench [-- --seconds=5 …]`: checks the arguments, builds, and measures.
import { checkedRun } from './checked-run.mjs';

const { benchArguments } = await import('../src/bench/bench-arguments.ts');
checkedRun('bench', benchArguments);
