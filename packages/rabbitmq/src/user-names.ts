import { BadRequest, type EngineHost } from '@strongroom/engine-sdk';
import { compileTemplate, type Template } from '@strongroom/go-template';
import type { UserMark } from './user-mark.ts';

const DEFAULT_TEMPLATE = '{{ printf "%s-%s" (.DisplayName) (uuid) }}';
/** Bytes of a name: a message of AMQP names its publisher in at most as many. */
const LONGEST = 255;

/** Makes the names of users from a template, which is compiled once. */
export class UserNames {
  readonly source: string;
  /** Whether names carry the mark of the mount. */
  readonly marked: boolean;
  readonly #template: Template;
  readonly #host: EngineHost;
  readonly #mark: UserMark;

  /** `source`: '' for the default. @throws BadRequest for a template that cannot be used */
  constructor(source: string, host: EngineHost, mark: UserMark) {
    this.source = source;
    this.#host = host;
    this.#mark = mark;
    try {
      this.#template = compileTemplate(source || DEFAULT_TEMPLATE, {
        fields: ['DisplayName', 'RoleName'],
        typeName: 'rabbitmq.UsernameMetadata',
        functions: { random: mark.random },
      });
    } catch (error) {
      throw new BadRequest(`unable to initialize username template: ${(error as Error).message}`);
    }
    this.marked = mark.isOn(this.next('token', 'role'));
  }

  /** Whether nobody else can have such a name: those of the default have a UUID. */
  get unique(): boolean {
    return this.source === '';
  }

  /** @throws BadRequest when the template fails, or gives a name that cannot be used. */
  next(displayName: string, roleName: string): string {
    const environment = {
      now: () => this.#host.clock.now(),
      randomBytes: (count: number) => this.#host.randomBytes(count),
      uuid: () => this.#mark.uuid(),
    };
    let name: string;
    try {
      name = this.#template.render({ DisplayName: displayName, RoleName: roleName }, environment);
    } catch (error) {
      throw new BadRequest(`failed to generate username: ${(error as Error).message}`);
    }
    const problem = complaint(name);
    if (problem) throw new BadRequest(`failed to generate username: username_template gives a name that ${problem}`);
    return name;
  }
}

function complaint(name: string): string | undefined {
  if (name.trim() === '') return 'is empty';
  if (Buffer.byteLength(name) > LONGEST) return `has ${Buffer.byteLength(name)} bytes, of which RabbitMQ takes ${LONGEST}`;
  // A path of HTTP cannot name these, and RabbitMQ's own tools cannot show what is not printable.
  if (/^\.{1,2}$/.test(name) || /\p{C}/u.test(name)) return `cannot be used: ${JSON.stringify(name)}`;
  return undefined;
}
