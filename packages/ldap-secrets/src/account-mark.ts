import { type EngineHost, NameMark } from '@strongroom/engine-sdk';
import { randomFunction, type TemplateFunction } from '@strongroom/go-template';

/** How many characters `random` must give for a name to carry the mark: the default `username_template` has as many. */
export const MARKED_LENGTH = 10;

/** The mark of a mount in the names of the accounts that it makes, put into what `random` gives in a `username_template`. */
export class AccountMark extends NameMark {
  constructor(host: EngineHost) {
    super(host, { records: 'name-mark/', shortest: MARKED_LENGTH });
  }

  /** `random` of username templates: as usual, but marked where the text is long enough. */
  get random(): TemplateFunction {
    return { ...randomFunction, call: (args, call) => this.put(randomFunction.call(args, call) as string) };
  }
}
