import type { Kernel } from '../kernel/kernel.ts';
import type { TokenStore } from '../services/tokens/token-store.ts';

/** Stores a token that may do everything and does not end. `id`: the token itself; a new one by default. Resolves with the token. */
export async function createRootToken({ store, clock }: Kernel, tokens: TokenStore, id?: string): Promise<string> {
  const made = await store.transaction(async (tx) =>
    tokens.create(
      tx,
      {
        path: 'auth/token/root',
        policies: ['root'],
        display_name: 'root',
        created: clock.millis(),
        expires: 0,
        creation_ttl: 0,
        renewable: false,
      },
      id,
    ),
  );
  return made.token;
}
