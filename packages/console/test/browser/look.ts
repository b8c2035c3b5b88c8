import { join } from 'node:path';
import type { Tab } from './console-browser.ts';

const folder = process.env['STRONGROOM_LOOKS'];

/** A picture for whoever works on a page: made where STRONGROOM_LOOKS names a folder. */
export async function look(tab: Tab, name: string): Promise<void> {
  if (folder !== undefined) await tab.picture(join(folder, `${name}.png`));
}
