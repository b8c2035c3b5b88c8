import { silentLog } from '@strongroom/engine-sdk';
import { manualClock, sharedMemory, type CuttableStorage, type ManualClock } from '@strongroom/engine-testkit';
import { Barrier } from '../../../src/kernel/barrier/barrier.ts';
import { Store } from '../../../src/kernel/storage/store.ts';
import { TokenStore } from '../../../src/services/tokens/token-store.ts';

/** Tokens in an unsealed store, without a server. */
export async function openedStore(): Promise<{ driver: CuttableStorage; clock: ManualClock; store: Store; tokens: TokenStore }> {
  const driver = sharedMemory().open();
  const clock = manualClock();
  const barrier = new Barrier(driver, clock);
  await barrier.initialize(Buffer.alloc(32, 7), []);
  await barrier.unseal(Buffer.alloc(32, 7));
  const store = new Store(driver, barrier);
  return { driver, clock, store, tokens: new TokenStore({ store, barrier, clock, log: silentLog }) };
}
