import type { Replacements } from './composition.ts';
import type { Configuration } from './config/configuration.ts';

export interface StartOptions extends Replacements {
  readonly configuration: Configuration;
  /** Milliseconds that requests have to end when the server stops; 20,000 by default. */
  readonly stopDeadline?: number;
}
