import { Failure } from '../failure.ts';
import { textOf, type LoginMethod } from './login-method.ts';

/** A field that a login sends, and what `auth help` says of it. */
export interface LoginField {
  readonly name: string;
  readonly help: string;
  /** A secret that is asked for when it is absent. */
  readonly asked?: string;
  /** Surrounding white space, such as the end of the line of a file, is no part of the value. */
  readonly trimmed?: true;
}

/** Methods that take all their fields in the body of `login`. Further fields that the user gives are sent too. */
export function fieldsMethod(title: string, about: string, fields: readonly LoginField[], example: string): LoginMethod {
  return {
    fields: fields.map(({ name }) => name),
    help: [
      `Usage: strongroom login -method=${title} [CONFIG K=V...]`,
      '',
      `  ${about}`,
      '',
      `      $ strongroom login -method=${title} ${example}`,
      '',
      'Configuration:',
      ...fields.flatMap(({ name, help }) => ['', `  ${name}=<string>`, `      ${help}`]),
    ].join('\n'),
    async login({ mount, data, client, ask }) {
      const body: Record<string, unknown> = { ...data };
      for (const { name, asked, trimmed } of fields) {
        const given = textOf(data, name);
        if (given !== undefined && trimmed) body[name] = given.trim();
        if (asked !== undefined && !Object.hasOwn(data, name)) {
          const missing = `${name} is missing: give ${name}=<string>, ${name}=@file or ${name}=- for standard input`;
          body[name] = await ask(`${asked} (will be hidden): `, missing);
        }
      }
      return client.write(`auth/${mount}/login`, body);
    },
  };
}

/** A login with the certificate of the TLS connection. */
export function certificateMethod(): LoginMethod {
  const about = 'Logs in with the client certificate of the connection.';
  const name = { name: 'name', help: 'Role to log in with. Default: the first one that fits the certificate.' };
  const { help, login, ...rest } = fieldsMethod('cert', about, [name], '-client-cert=web.pem -client-key=web.key name=web');
  return {
    ...rest,
    help: [
      help,
      '',
      'The certificate comes from -client-cert and -client-key, or STRONGROOM_CLIENT_CERT and STRONGROOM_CLIENT_KEY;',
      'the authority of the server from -ca-cert, or STRONGROOM_CACERT.',
    ].join('\n'),
    async login(call) {
      const { clientCert, headers } = call.client.connection;
      if (clientCert === undefined && Object.keys(headers).length === 0) {
        throw new Failure(
          'The client certificate is missing: give -client-cert and -client-key, or set STRONGROOM_CLIENT_CERT and STRONGROOM_CLIENT_KEY',
        );
      }
      return login(call);
    },
  };
}

/** A type that the command line does not know: its own fields go to `login` as they are. */
export function plainMethod(title: string): LoginMethod {
  return {
    help: [
      `Usage: strongroom login -method=${title} [K=V...]`,
      '',
      `  Sends the fields given to the login path of the "${title}" method.`,
      `  "strongroom path-help auth/${title}/login" lists them.`,
    ].join('\n'),
    async login({ mount, data, client }) {
      if (Object.keys(data).length === 0) {
        throw new Failure(
          `The fields of the login are missing: give them as key=value; "strongroom path-help auth/${mount}/login" lists them`,
        );
      }
      return client.write(`auth/${mount}/login`, data);
    },
  };
}
