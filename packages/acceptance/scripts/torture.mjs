// `npm run torture [-- kills [part]]`: checks the arguments, builds, and kills.
import { checkedRun } from './checked-run.mjs';

const { tortureArguments } = await import('../src/torture/torture-arguments.ts');
await checkedRun('torture', tortureArguments);
