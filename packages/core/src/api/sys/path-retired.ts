import { f, path, type AnyPath } from '@strongroom/engine-sdk';

/**
 * `sys/rekey…`, `sys/rekey-recovery-key…` and `sys/generate-root…`: the forms that asked for no token. They are there, so that
 * clients learn that they are disabled instead of being asked for a token.
 */
export function retiredKeyPaths(): AnyPath[] {
  const retired = (name: string, instead: string): AnyPath =>
    path(`${name as 'rekey'}/{rest:all}`, {
      synopsis: `Switched off; ${instead} does it, with a token.`,
      description: 'Every operation answers 405.',
      access: 'unauthenticated',
      fields: { rest: f.name('The rest of the path.') },
    });
  return [
    retired('rekey', 'rotate/root'),
    retired('rekey-recovery-key', 'rotate/recovery'),
    retired('generate-root', 'generate-root-token'),
  ];
}
