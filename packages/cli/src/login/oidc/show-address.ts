import type { CliIo } from '../../cli-io.ts';
import { Failure } from '../../failure.ts';
import { openBrowser } from './browser.ts';
import type { OidcSettings } from './oidc-settings.ts';

type Showing = Pick<OidcSettings, 'skipBrowser' | 'showQr' | 'abortOnError'>;

/** Tells the user which page to open, and opens it unless that is unwanted. */
export async function showAddress(io: CliIo, settings: Showing, address: URL, userCode: unknown): Promise<void> {
  const say = (text: string): void => void io.stderr.write(`${text}\n`);
  say(
    settings.skipBrowser
      ? 'Complete the login at your OpenID provider. Open this address in your browser:'
      : 'Complete the login at your OpenID provider. A browser opens:',
  );
  say(`\n    ${address.href}\n`);
  if (settings.showQr) {
    const { renderUnicodeCompact } = await import('uqr');
    say(`${renderUnicodeCompact(address.href)}\n`);
  }
  if (typeof userCode === 'string') say(`When asked for a code, type or confirm: ${userCode.replace(/[^\x20-\x7e]/g, '?')}\n`);
  if (!settings.skipBrowser) {
    try {
      await (io.openBrowser ?? openBrowser)(address.href);
    } catch (error) {
      const text = `No browser could be opened: ${(error as Error).message}`;
      if (settings.abortOnError) throw new Failure(text);
      say(`${text}\nOpen the address yourself.\n`);
    }
  }
  say('Waiting for the login to complete...');
}
