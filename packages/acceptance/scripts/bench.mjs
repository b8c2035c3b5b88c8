// `npm run bench [-- --seconds=5 …]`: checks the arguments and the server to compare with, builds, and measures.
import { checkedRun } from './checked-run.mjs';

const { benchArguments } = await import('../src/bench/bench-arguments.ts');
const { requirePeer } = await import('../src/bench/peer.ts');
await checkedRun('bench', benchArguments, {
  check: async ({ against }) => {
    if (against !== undefined) await requirePeer(against);
  },
});
