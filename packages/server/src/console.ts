import type { Log } from '@strongroom/engine-sdk';
import type { PageFiles } from '@strongroom/http';
import type { ConsoleChoice } from './config/console-section.ts';
import { isMissing } from './plugins/plugin-list.ts';

/** The console's files, or what a request for a page is answered instead. */
export type ConsolePages = { readonly pages: PageFiles } | { readonly noPages: string };

/** What this needs of the package. */
type ConsoleModule = Pick<typeof import('@strongroom/console'), 'consoleFiles'>;

const PACKAGE = '@strongroom/console';
const ABSENT = `the console is not installed on this server: npm install ${PACKAGE}`;

/** For listeners that leave the console out. */
export const NO_CONSOLE_HERE: ConsolePages = { noPages: 'there is no console at this address' };

/** Loads the console where it is wanted and installed. It never throws: a server without pages is still a server. */
export async function openConsole(
  { ui }: ConsoleChoice,
  log: Log,
  load: () => Promise<ConsoleModule> = async () => import('@strongroom/console'),
): Promise<ConsolePages> {
  if (ui === 'off') return NO_CONSOLE_HERE;
  try {
    return { pages: (await load()).consoleFiles() };
  } catch (error) {
    if (isMissing(error, PACKAGE)) {
      if (ui === 'wanted') log.warn('there are no pages below /ui/', { reason: ABSENT });
      return { noPages: ABSENT };
    }
    log.error('the console cannot be loaded; the server goes on without it', { error: (error as Error).message });
    return { noPages: 'the console cannot be loaded: the log of the server says why' };
  }
}
