import type { KillableMount } from '@strongroom/engine-testkit';
import type { LdapCutter, Loss } from './ldap-cutter.ts';

/**
 * The server dies at a call of the directory that it makes for `work`, whose request or answer is lost with it; or the work runs through. Resolves with
 * whether it died; the cutter is open again, and the server is to be restarted.
 */
export async function dieAtCall(
  { server, cutter }: { readonly server: KillableMount; readonly cutter: LdapCutter },
  [call, loss]: readonly [number, Loss],
  work: () => Promise<unknown>,
): Promise<boolean> {
  cutter.cutAt(call, loss);
  let through = false;
  const cut = cutter.cut().then(() => {
    if (through) return false;
    cutter.shut();
    server.storage.die();
    return true;
  });
  const running = work();
  const died = await Promise.race([cut, running.then(() => false)]);
  through = true;
  // The dead touch nothing: what still runs of the process has to come to its end before the next one begins.
  if (died) await Promise.race([server.storage.noticed, running]);
  cutter.open();
  cutter.cutAt(Infinity, loss);
  return died;
}
