import { BadRequest } from '@strongroom/engine-sdk';
import { decodeStatementElement } from '@strongroom/database-sdk';

/** Whether one of these placeholders stands in the statements, however these are written. */
export function holdsPlaceholder(commands: readonly string[], names: readonly string[]): boolean {
  const wanted = new RegExp(`\\{\\{(?:${names.join('|')})\\}\\}`);
  return commands.some((command) => decodeStatementElement(command).some((text) => wanted.test(text)));
}

/** Statements that change a password must hold it. Without statements the plugin's own are used. @throws BadRequest */
export function requirePasswordPlaceholder(field: string, commands: readonly string[]): void {
  if (commands.length === 0 || holdsPlaceholder(commands, ['password'])) return;
  throw new BadRequest(`${field}: no statement contains {{password}}, so the password would not change`);
}
