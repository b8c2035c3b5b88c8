/** The page that a login leads to: one of this console, the home page by default. */
export function pageAfterLogin(asked: string | undefined): string {
  return asked !== undefined && /^\/(?![/\\])/.test(asked) && !/^\/(login|init|unseal)\b/.test(asked) ? asked : '/';
}
