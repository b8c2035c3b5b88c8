// `npm run fuzz [-- seconds [seed]]`: installs what is missing, builds, and fuzzes the OpenAPI document of a server with every engine.
import { checkedRun } from './checked-run.mjs';
import { installPython } from './setup.mjs';

const { fuzzArguments } = await import('../src/fuzz/fuzz-arguments.ts');
await checkedRun('fuzz', fuzzArguments, { install: installPython });
