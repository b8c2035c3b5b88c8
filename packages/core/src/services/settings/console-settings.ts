/** What operators decide about the web console, for everybody who uses it. */
export interface ConsoleSettings {
  /** Shown above every page, before login too; '' shows nothing. */
  readonly banner: string;
  /** Minutes without input after which the console locks itself. */
  readonly idleMinutes: number;
  /** Seconds for which a value that somebody asked for is shown. */
  readonly showSeconds: number;
  /** The login method that is offered first: `token`, or the path of an auth mount without `auth/`, with its closing slash. '' leaves it to the console. */
  readonly defaultMethod: string;
  /** Where the console keeps a token: `tab` survives a reload of the page, `memory` does not. */
  readonly session: 'tab' | 'memory';
}

export const consoleDefaults: ConsoleSettings = { banner: '', idleMinutes: 15, showSeconds: 30, defaultMethod: '', session: 'tab' };
