import { compileTemplate, type Template, type TemplateEnvironment } from '@strongroom/go-template';

/** Far beyond any path a request may have. */
const LONGEST_PATH = 4096;
const MOST_ROUNDS = 100;

/** A template asks for the time or for random bytes. */
class NotOfTheKey extends Error {
  override readonly name = 'NotOfTheKey';
}

function refuse(): never {
  throw new NotOfTheKey('a path of a key cannot depend on the time or on chance');
}

const environment: TemplateEnvironment = { now: refuse, randomBytes: refuse };

/** The template by which a list leaves out keys: from the path of the list (`.path`) and a key (`.key`), it makes the path that the caller must reach. */
export class KeysFilter {
  readonly #template: Template;

  /** @throws Error for text that is no such template; its message says why */
  constructor(source: string) {
    this.#template = compileTemplate(source, {
      name: 'path',
      fields: ['path', 'key'],
      maxOutput: LONGEST_PATH,
      maxRounds: MOST_ROUNDS,
    });
    try {
      this.#template.render({ path: 'folder/', key: 'name' }, environment);
    } catch (error) {
      // Others may fail for the example alone.
      if (error instanceof NotOfTheKey) throw error;
    }
  }

  get source(): string {
    return this.#template.source;
  }

  /** `folder` ends in a slash. Undefined where the template makes nothing of this key. */
  pathOf(folder: string, key: string): string | undefined {
    try {
      return this.#template.render({ path: folder, key }, environment);
    } catch {
      return undefined;
    }
  }
}
