import { InvalidRequest } from '@strongroom/engine-sdk';
import { compileTemplate, type Template, type TemplateEnvironment } from '@strongroom/go-template';
import { safeNamePart } from '@strongroom/database-sdk';
import type { UserMark } from './user-mark.ts';

/** Makes the names of a connection's users from its template, which is compiled once. */
export class UserNames {
  /** Whether two names for the same caller, role and moment differ. */
  readonly unique: boolean;
  /** Whether names carry the mark of the mount, as far as caller and role leave room for it. */
  readonly marked: boolean;
  readonly #template: Template;
  readonly #longest: number;
  readonly #environment: TemplateEnvironment;

  /** @throws InvalidRequest for a template that cannot be used. */
  constructor(source: string, longest: number | undefined, environment: TemplateEnvironment, mark: UserMark) {
    try {
      this.#template = compileTemplate(source, {
        fields: ['DisplayName', 'RoleName'],
        typeName: 'dbplugin.UsernameMetadata',
        functions: { random: mark.random },
      });
    } catch (error) {
      throw new InvalidRequest(`unable to initialize username template: ${(error as Error).message}`);
    }
    this.#longest = longest ?? Infinity;
    this.#environment = environment;
    const moment = environment.now();
    const still = { ...environment, now: () => moment };
    const sample = this.#render('token', 'role', still);
    this.unique = sample !== this.#render('token', 'role', still);
    this.marked = mark.isOn(sample);
  }

  /** @throws InvalidRequest when the template fails or gives a name that the database would cut or refuse. */
  next(displayName: string, roleName: string): string {
    return this.#render(displayName, roleName, this.#environment);
  }

  #render(displayName: string, roleName: string, environment: TemplateEnvironment): string {
    let name: string;
    try {
      name = this.#template.render({ DisplayName: safeNamePart(displayName), RoleName: safeNamePart(roleName) }, environment);
    } catch (error) {
      throw new InvalidRequest(`failed to generate username: ${(error as Error).message}`);
    }
    // Some databases count bytes, and cut what is too long without a word.
    if (Buffer.byteLength(name) > this.#longest) name = asciiOf(name);
    if (name === '' || name.includes('\0')) throw new InvalidRequest('failed to generate username: username_template gives an empty name');
    if (name.length > this.#longest) {
      throw new InvalidRequest(
        `failed to generate username: username_template gives ${name.length} characters, and the database takes ${this.#longest}`,
      );
    }
    return name;
  }
}

function asciiOf(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[^\x20-\x7e]/gu, '-');
}
