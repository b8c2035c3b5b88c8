import { describe, expect, test } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StorageFailure } from '@strongroom/storage-sdk';
import { readConnectionUrl } from '../src/connection-url.ts';

function refusal(url: unknown): string {
  try {
    readConnectionUrl(url);
  } catch (error) {
    expect(error).toBeInstanceOf(StorageFailure);
    expect((error as Error).message).not.toContain('s3cret');
    return (error as StorageFailure).reason;
  }
  throw new Error('it was taken');
}

describe('a connection URL', () => {
  test.each([
    ['postgresql://u:p@db/x', [{ host: 'db', port: 5432 }], false],
    ['postgres://u:p@db:6000/x?target_session_attrs=read-write', [{ host: 'db', port: 6000 }], true],
    [
      'postgresql://u:p@one,two:6001,[::1]:6002/x',
      [
        { host: 'one', port: 5432 },
        { host: 'two', port: 6001 },
        { host: '::1', port: 6002 },
      ],
      true,
    ],
    [
      'postgresql://u:p@one,two/x?target_session_attrs=any',
      [
        { host: 'one', port: 5432 },
        { host: 'two', port: 5432 },
      ],
      false,
    ],
    [
      'postgresql://u@/x?host=one,/run/postgresql&port=7000',
      [
        { host: 'one', port: 7000 },
        { host: '/run/postgresql', port: 7000 },
      ],
      true,
    ],
    [
      'postgresql://u:p@db:6000/x?host=one,two',
      [
        { host: 'one', port: 6000 },
        { host: 'two', port: 6000 },
      ],
      true,
    ],
    [
      'postgresql://u:p@db:6000,:6001/x?host=one,two',
      [
        { host: 'one', port: 6000 },
        { host: 'two', port: 6001 },
      ],
      true,
    ],
    ['postgresql://u:p@%2Frun%2Fpostgresql/x', [{ host: '/run/postgresql', port: 5432 }], false],
    ['postgresql://u:p@/x?host=fe80::1%25eth0', [{ host: 'fe80::1%eth0', port: 5432 }], false],
  ])('%s has its hosts, and with several only one that takes writes', (url, hosts, readWrite) => {
    const read = readConnectionUrl(url);
    expect(read.hosts).toEqual(hosts);
    expect(read.readWrite).toBe(readWrite);
  });

  test('is passed on for one host, with user, password and database whole', () => {
    const { configFor, secrets } = readConnectionUrl(
      'postgresql://a%40b:p%2Fa+s%25s@one,two:2/my%20db?sslmode=no-verify&load_balance_hosts=random',
    );
    expect(configFor({ host: 'two', port: 2 }, 'announcements')).toEqual({
      user: 'a@b',
      password: 'p/a+s%s',
      database: 'my db',
      host: 'two',
      port: 2,
      ssl: { rejectUnauthorized: false },
      application_name: 'strongroom announcements',
    });
    expect(secrets).toContain('p/a+s%s');
  });

  test.each([
    ['', undefined],
    ['ssl=true', true],
    ['ssl=1', true],
    ['ssl=false', false],
    ['ssl=0', false],
    ['ssl=no-verify', { rejectUnauthorized: false }],
    ['sslnegotiation=direct', true],
    ['ssl=true&sslmode=disable', false],
    ['sslmode=no-verify', { rejectUnauthorized: false }],
    ['sslmode=allow', {}],
    ['sslmode=prefer', {}],
    ['sslmode=require&uselibpqcompat=false', {}],
    ['sslmode=verify-full&uselibpqcompat=true', {}],
    ['sslmode=prefer&uselibpqcompat=true', { rejectUnauthorized: false }],
    ['sslmode=require&uselibpqcompat=true', { rejectUnauthorized: false }],
  ])('with the parameters "%s" has its certificate checked accordingly', (parameters, ssl) => {
    const { configFor, hosts } = readConnectionUrl(`postgresql://u:p@db/x?${parameters}`);
    expect(configFor(hosts[0]!).ssl).toEqual(ssl);
  });

  test('reads the files of certificates for each connection, and checks no name for the weaker modes of libpq', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'strongroom-url-'));
    const root = join(folder, 'root.crt');
    const of = (mode: string) => {
      const { configFor, hosts } = readConnectionUrl(
        `postgresql://u:p@db/x?sslmode=${mode}&uselibpqcompat=true&sslrootcert=${encodeURIComponent(root)}`,
      );
      return configFor(hosts[0]!).ssl;
    };
    await writeFile(root, 'first');
    expect(of('verify-full')).toEqual({ ca: 'first' });
    await writeFile(root, 'second');
    for (const mode of ['require', 'verify-ca']) expect(of(mode)).toEqual({ ca: 'second', checkServerIdentity: expect.any(Function) });
    await rm(folder, { recursive: true });
  });

  test.each([
    ['target_session_attr=any', 'the connection URL has an unknown parameter. Did you mean target_session_attrs?'],
    ['sslmod=require', 'the connection URL has an unknown parameter. Did you mean sslmode?'],
    ['LoadBalanceHosts=random', 'the connection URL has an unknown parameter. Did you mean load_balance_hosts?'],
    ['lock_timeout=1', 'the connection URL sets lock_timeout, which the driver sets itself: leave it out'],
    [
      'target_session_attrs=standby',
      'the parameter target_session_attrs of the connection URL must be "read-write", "primary" or "any": the store is written to',
    ],
    ['load_balance_hosts=yes', 'the parameter load_balance_hosts of the connection URL must be "disable" or "random"'],
    ['connect_timeout=soon', 'the parameter connect_timeout of the connection URL must be a number of seconds from 1 to 600'],
    ['client_encoding=LATIN1', 'the parameter client_encoding of the connection URL must be UTF8'],
    [
      'sslmode=requier',
      'the parameter sslmode of the connection URL must be "disable", "allow", "no-verify", "verify-full", "prefer", "require" or "verify-ca"',
    ],
    ['sslmode=require&sslmode=disable', 'the connection URL sets sslmode more than once'],
    ['sslnegotiation=on', 'the parameter sslnegotiation of the connection URL must be "postgres" or "direct"'],
    ['ssl=maybe', 'the parameter ssl of the connection URL must be "true", "false", "1", "0" or "no-verify"'],
    ['uselibpqcompat=1', 'the parameter uselibpqcompat of the connection URL must be "true" or "false"'],
    [
      'sslmode=verify-ca&uselibpqcompat=true',
      'the connection URL sets sslmode=verify-ca and uselibpqcompat=true: add sslrootcert, which names the file of the certificate authority',
    ],
    ['connect_timeout=0x5', 'the parameter connect_timeout of the connection URL must be a number of seconds from 1 to 600'],
    ['host=a,b,c&port=1,2', 'the connection URL names 3 hosts and 2 ports: name one port for all hosts, or one for each host'],
    ['port=1,2', 'the connection URL names 1 host and 2 ports: name one port for all hosts, or one for each host'],
  ])('with %s is refused with a sentence that names it', (parameters, reason) => {
    expect(refusal(`postgresql://u:s3cret@db/x?${parameters}`)).toBe(reason);
  });

  test.each([
    ['postgresql://u:s3cret@db:port/x', 'the connection URL has a port that is not a number from 1 to 65535'],
    ['postgresql://u:s3cret@[::1/x', 'the connection URL has a host that is not host:port'],
    [' postgresql://u:s3cret@db/x', 'the connection URL begins or ends with white space'],
    ['postgresql://u:s3cret@db:70000/x', 'the connection URL has a port that is not a number from 1 to 65535'],
    ['postgresql://u:%zz@db/x', 'the connection URL is not encoded as URLs are: write "%" as "%25"'],
    ['postgresql://u:s3cret@db/x%00y', 'the connection URL contains a null character ("%00"), which PostgreSQL does not accept: remove it'],
    ['postgresql://u:s3cret%00@db/x', 'the connection URL contains a null character ("%00"), which PostgreSQL does not accept: remove it'],
    ['postgresql://u:s3cret@[db]/x', 'the connection URL has brackets around what is not an IPv6 address'],
    [undefined, 'connectionUrl must be a string, such as postgresql://user:password@host:port/database'],
    [{ host: 'db', password: 's3cret' }, 'connectionUrl must be a string, such as postgresql://user:password@host:port/database'],
    [
      'mysql://u:s3cret@db/x',
      'the connection URL must begin with postgresql:// or postgres://, such as postgresql://user:password@host:port/database',
    ],
  ])('%s is refused', (url, reason) => {
    expect(refusal(url)).toBe(reason);
  });

  test.each(['1e0', '+1', '0x1', '0', '-1', ' 1', '1.0', '65536', '१'])(
    'with the port %s is refused: a port is in decimal digits',
    (port) => {
      for (const url of [`postgresql://u:p@db:${port}/x`, `postgresql://u:p@db/x?port=${encodeURIComponent(port)}`])
        expect(refusal(url)).toBe('the connection URL has a port that is not a number from 1 to 65535');
    },
  );

  test.each(['u%3As3cret%40db', 'u;s3cret', '@db?host=db,password=s3cret', '@db?host=db;password=s3cret', '@db?host=db%20s3cret'])(
    'with %s is refused, as what is no host may be a password',
    (rest) => {
      expect(refusal(`postgresql://${rest}`)).toBe(
        'the connection URL has a host that is not a name, an IP address or the absolute path of a folder with a socket',
      );
    },
  );

  test.each([
    ['postgresql://u-1.x:p@db/strong_room', []],
    ['postgresql://müller@db/x', []],
    ['postgresql://u%3As3cret@db/x', ['user']],
    ['postgresql://u;s3cret@db/x', ['user']],
    ['postgresql://db/x?user=u,password=s3cret', ['user']],
    ['postgresql://db/x?dbname=y;password=s3cret', ['database']],
    ['postgresql://u@db/x;password=s3cret', ['database']],
    ['postgresql://u@db/x?application_name=y;password=s3cret&options=-c%20a=b', ['options', 'application_name']],
  ])('%s names the parts that may hold a password', (url, unshown) => {
    expect(readConnectionUrl(url).unshown).toEqual(unshown);
  });

  test.each(['/', '?', '#', '@/', '@?', '?x=', '@?x=', '?sslmode=', '?host=', '/?host=a&x='])(
    'with a password that has %s as it is says how to write that, and shows nothing of it',
    (part) => {
      for (const password of [`s3cret${part}s3cret`, `12${part}s3cret`, `${part}s3cret`])
        expect(refusal(`postgresql://u:${password}@db/x`)).toMatch(/with \/ \? # and @ in a password percent-encoded$/);
    },
  );

  test.each(['s3', 'port1', 'ssl!'])('with the unknown parameter %s does not show it, as it may be part of a password', (name) => {
    expect(refusal(`postgresql://db/x?password=a&${name}`)).toMatch(/^the connection URL has an unknown parameter\. Did you mean \w+\?$/);
  });

  test.each(['nonsense=1', 'password=a&s3cret', 'password=a&s3cret=b', 'passwords3cret', 'password:s3cret'])(
    'with %s names the known parameters, as what is unknown may be part of a password',
    (parameters) => {
      expect(refusal(`postgresql://db/x?user=u&${parameters}`)).toMatch(
        /^the connection URL has an unknown parameter; the known ones are host, /,
      );
    },
  );

  test('may have a bare @ where it can be nothing else', () => {
    expect(readConnectionUrl('postgresql://u:a@b@db/x').hosts).toEqual([{ host: 'db', port: 5432 }]);
    expect(readConnectionUrl('postgresql://db/x?user=u@b').user).toBe('u@b');
  });
});
