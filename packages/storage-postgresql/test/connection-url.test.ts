import { describe, expect, test } from '@jest/globals';
import { StorageFailure } from '@strongroom/storage-sdk';
import { readConnectionUrl } from '../src/connection-url.ts';

function refusal(url: string): string {
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
  ])('%s has its hosts, and with several only one that takes writes', (url, hosts, readWrite) => {
    const read = readConnectionUrl(url);
    expect(read.hosts).toEqual(hosts);
    expect(read.readWrite).toBe(readWrite);
  });

  test('is passed on for one host, with user, password and database whole', () => {
    const { urlOf, secrets } = readConnectionUrl(
      'postgresql://a%40b:p%2Fa+s%25s@one,two:2/my%20db?sslmode=no-verify&load_balance_hosts=random',
    );
    const passed = new URL(urlOf({ host: 'two', port: 2 }, 'announcements'));
    expect(Object.fromEntries(passed.searchParams)).toEqual({
      user: 'a@b',
      password: 'p/a+s%s',
      host: 'two',
      port: '2',
      sslmode: 'no-verify',
      application_name: 'strongroom announcements',
    });
    expect(decodeURI(passed.pathname)).toBe('/my db');
    expect(secrets).toContain('p/a+s%s');
  });

  test.each([
    ['target_session_attr=any', 'the connection URL has the unknown parameter "target_session_attr". Did you mean target_session_attrs?'],
    ['sslmod=require', 'the connection URL has the unknown parameter "sslmod". Did you mean sslmode?'],
    ['LoadBalanceHosts=random', 'the connection URL has the unknown parameter "LoadBalanceHosts". Did you mean load_balance_hosts?'],
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
    ['host=a,b,c&port=1,2', 'the connection URL names 3 hosts and 2 ports'],
  ])('with %s is refused with a sentence that names it', (parameters, reason) => {
    expect(refusal(`postgresql://u:s3cret@db/x?${parameters}`)).toBe(reason);
  });

  test.each([
    ['postgresql://u:s3cret@db:port/x', 'the connection URL has a port that is not a number from 1 to 65535'],
    ['postgresql://u:s3cret@[::1/x', 'the connection URL has a host that is not host:port'],
    [' postgresql://u:s3cret@db/x', 'the connection URL begins or ends with white space'],
    ['postgresql://u:s3cret@db:70000/x', 'the connection URL has a port that is not a number from 1 to 65535'],
    ['postgresql://u:%zz@db/x', 'the connection URL is not encoded as URLs are: write "%" as "%25"'],
    ['mysql://u:s3cret@db/x', 'the connection URL does not begin with postgresql://'],
  ])('%s is refused', (url, reason) => {
    expect(refusal(url)).toBe(reason);
  });

  test.each(['/', '?', '#', '@/', '@?', '?x=', '@?x=', '?sslmode=', '?host=', '/?host=a&x='])(
    'with a password that has %s as it is says how to write that, and shows nothing of it',
    (part) => {
      for (const password of [`s3cret${part}s3cret`, `12${part}s3cret`, `${part}s3cret`])
        expect(refusal(`postgresql://u:${password}@db/x`)).toMatch(/with \/ \? # and @ in a password percent-encoded$/);
    },
  );

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
    expect(readConnectionUrl('postgresql://u:p@/x?host=%40socket').hosts).toEqual([{ host: '@socket', port: 5432 }]);
  });
});
