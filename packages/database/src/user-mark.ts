import { type EngineHost, NameMark } from '@strongroom/engine-sdk';
import { randomFunction, type TemplateFunction } from '@strongroom/go-template';

/** How many characters `random` must give for a name to carry the mark. */
export const MARKED_LENGTH = 12;

/** The mark of a mount in the names of its users, put into what `random` gives in a `username_template`. */
export class UserMark extends NameMark {
  constructor(host: EngineHost) {
    super(host, { records: 'user-mark/', shortest: MARKED_LENGTH });
  }

  /** `random` of username templates: as usual, but marked where the text is long enough. */
  get random(): TemplateFunction {
    return { ...randomFunction, call: (args, call) => this.put(randomFunction.call(args, call) as string) };
  }
}
