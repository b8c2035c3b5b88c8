import { afterEach, describe, expect, test } from '@jest/globals';
import { silentLog, systemClock } from '@strongroom/engine-sdk';
import { formatFilter, LdapEntry, LdapError, type Connection, type Directory, type SearchRequest } from '@strongroom/ldap-client';
import { accountProblem } from '../src/account-state.ts';
import { defaultConfig, type LdapAuthConfig } from '../src/config.ts';
import { directoryLogin } from '../src/directory-login.ts';
import { loginName } from '../src/login-name.ts';
import { makeSetup, type Setup } from '../src/setup.ts';
import { sidText } from '../src/sid.ts';
import { Trace } from '../src/trace.ts';

const template = { now: () => new Date(0), randomBytes: (count: number) => new Uint8Array(count) };
const opened: Setup[] = [];

afterEach(() => {
  for (const { directory } of opened.splice(0)) directory.close();
});

function entry(dn: string, attributes: Record<string, readonly (string | Buffer)[]> = {}): LdapEntry {
  return new LdapEntry(dn, new Map(Object.entries(attributes).map(([name, values]) => [name, values.map((value) => Buffer.from(value))])));
}

/** A directory that answers searches by `base` and `filter`, and notes them and the names bound. */
function scripted(answers: Record<string, LdapEntry[] | LdapError>) {
  const asked: SearchRequest[] = [];
  const bound: string[] = [];
  const search = async (request: SearchRequest): Promise<LdapEntry[]> => {
    const filter = typeof request.filter === 'object' ? formatFilter(request.filter) : (request.filter ?? '');
    asked.push({ ...request, filter });
    const answer = answers[`${request.base} ${filter}`.trim()];
    if (answer instanceof LdapError) throw answer;
    return answer ?? [];
  };
  const connection = { url: 'ldap://scripted', search, whoAmI: async () => '' } as unknown as Connection;
  const directory = {
    withServiceConnection: async (binding: { dn: string }, work: (lent: Connection) => unknown) => {
      bound.push(binding.dn);
      return work(connection);
    },
    verifyUser: async (name: string, _password: string, work: (lent: Connection) => unknown) => {
      bound.push(name);
      return work(connection);
    },
    close: () => {},
  } as unknown as Directory;
  return { directory, asked, bound };
}

async function loginTo(config: Partial<LdapAuthConfig>, answers: Record<string, LdapEntry[] | LdapError>, username = 'Bob') {
  const made = makeSetup({ ...defaultConfig, ...config }, { clock: systemClock, log: silentLog, template });
  opened.push(made);
  const { directory, asked, bound } = scripted(answers);
  const setup = { ...made, directory };
  const user = await directoryLogin(setup, { name: loginName(setup.config, username), password: 'pw' }, new Trace(systemClock, () => {}));
  return { user, asked, bound };
}

const bob = 'CN=Bob Example,CN=Users,DC=corp,DC=example';
const sid = Buffer.from('010500000000000515000000a065cf7e784b9b5fe77c8770091c0100', 'hex');

describe('upndomain', () => {
  const config = {
    upndomain: 'corp.example',
    userdn: 'DC=corp,DC=example',
    groupdn: 'DC=corp,DC=example',
    groupfilter: '(member={{.UserDN}})',
  };

  test('users bind with the principal name, and their entry is searched for as themselves', async () => {
    const { user, asked, bound } = await loginTo(config, {
      'DC=corp,DC=example (userPrincipalName=Bob@corp.example)': [entry('CN=other'), entry(bob)],
      [`DC=corp,DC=example (member=${bob})`]: [entry('CN=Eng,DC=corp,DC=example', { cn: ['Eng'] })],
    });
    expect(bound).toEqual(['Bob@corp.example']);
    expect(asked).toHaveLength(2);
    expect(user).toMatchObject({ dn: bob, groups: ['Eng'], alias: { name: 'bob@corp.example' } });
  });

  test('the directory says by its principal name what the user is called, and by the account name where it has none', async () => {
    const search = 'DC=corp,DC=example (userPrincipalName=bÓb@corp.example)';
    const named = await loginTo(config, { [search]: [entry(bob, { userPrincipalName: ['Bob@CORP.example'] })] }, 'bÓb');
    expect(named.user).toMatchObject({ name: { folded: 'bob' }, alias: { name: 'bob@corp.example', others: ['bób@corp.example'] } });
    const implicit = await loginTo(
      config,
      {
        'DC=corp,DC=example (sAMAccountName=BExample)': [
          entry(bob, { sAMAccountName: ['bexample'], userPrincipalName: ['bob@corp.example'] }),
        ],
      },
      'BExample',
    );
    expect(implicit.user).toMatchObject({
      dn: bob,
      name: { folded: 'bob' },
      alias: { name: 'bob@corp.example', others: ['bexample@corp.example'] },
    });
  });

  test('the domain may come with the name, in either form', async () => {
    for (const username of ['bob@corp.example', 'Bob@CORP.EXAMPLE', 'CORP\\bob', ' corp\\Bob '])
      expect((await loginTo(config, {}, username)).user.alias).toMatchObject({ name: 'bob@corp.example' });
    expect((await loginTo({ ...config, netbiosname: 'HQ' }, {}, 'HQ\\bob')).bound).toEqual(['bob@corp.example']);
    expect((await loginTo({ ...config, netbiosname: 'HQ' }, {}, 'CORP\\bob')).bound).toEqual(['CORP\\\\bob@corp.example']);
    expect((await loginTo(config, {}, 'bob@elsewhere.example')).bound).toEqual(['bob@elsewhere.example@corp.example']);
  });

  test('characters with a meaning in names and filters are escaped in each', async () => {
    const { asked, bound } = await loginTo(config, {}, 'a,b*(c)');
    expect(bound).toEqual(['a\\,b*(c)@corp.example']);
    expect(asked[0]!.filter).toBe('(userPrincipalName=a,b\\2a\\28c\\29@corp.example)');
  });

  test('a principal name that is not found gives no groups, and no error', async () => {
    const { user, asked } = await loginTo(config, {});
    expect(asked.at(-1)!.filter).toBe('(member=)');
    expect(user).toMatchObject({ dn: '', groups: [] });
  });

  test('with a service account the entry is found by the principal name and bound', async () => {
    const { user, bound, asked } = await loginTo(
      { ...config, binddn: 'svc', bindpass: 'x', userattr: 'samaccountname' },
      {
        'DC=corp,DC=example (userPrincipalName=Bob@corp.example)': [
          entry(bob, { sAMAccountName: ['bob'], objectGUID: ['0123456789abcdef'] }),
        ],
      },
    );
    expect(bound).toEqual(['svc', bob, 'svc']);
    expect(asked).toHaveLength(2);
    expect(user).toMatchObject({ dn: bob, alias: { name: 'bob' }, identity: expect.stringMatching(/^objectGUID:/) });
  });

  test('nested groups are asked for with the matching rule of the filter', async () => {
    const { asked } = await loginTo({ ...config, groupfilter: '(&(objectClass=group)(member:1.2.840.113556.1.4.1941:={{.UserDN}}))' }, {});
    expect(asked.at(-1)!.filter).toBe('(&(objectClass=group)(member:1.2.840.113556.1.4.1941:=))');
  });
});

describe('use_token_groups', () => {
  test('each security identifier is looked up; those that may not be read are left out', async () => {
    const unreadable = Buffer.from('01020000000000052000000020020000', 'hex');
    const { user, asked } = await loginTo(
      { use_token_groups: true, userdn: 'DC=corp,DC=example' },
      {
        'cn=Bob,DC=corp,DC=example': [entry('cn=Bob,DC=corp,DC=example', { tokenGroups: [sid, unreadable, Buffer.from('00', 'hex')] })],
        '<SID=S-1-5-21-2127521184-1604012920-1887927527-72713>': [entry('CN=Staff,DC=corp,DC=example')],
        '<SID=S-1-5-32-544>': new LdapError(32),
      },
    );
    expect(user.groups).toEqual(['Staff']);
    // The own entry, its token groups, and each of the two.
    expect(asked.map(({ scope }) => scope)).toEqual(['base', 'base', 'base', 'base']);
  });

  test('identifiers have the text form of the directory', () => {
    expect(sidText(sid)).toBe('S-1-5-21-2127521184-1604012920-1887927527-72713');
    expect(sidText(sid.subarray(0, 20))).toBeUndefined();
    expect(sidText(Buffer.alloc(0))).toBeUndefined();
  });
});

test('use_pre111_group_cn_behavior takes the CN only where it is written so', async () => {
  const answers = { 'cn=Bob (cn=g)': [entry('cn=small,dc=x'), entry('CN=BIG,dc=x'), entry('not a name')] };
  const config = { groupdn: 'cn=Bob', groupfilter: '(cn=g)', groupattr: 'memberOf' };
  expect((await loginTo(config, answers)).user.groups).toEqual(['small', 'BIG']);
  expect((await loginTo({ ...config, use_pre111_group_cn_behavior: true }, answers)).user.groups).toEqual(['cn=small,dc=x', 'BIG']);
});

describe('accounts that may not log in', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  const ticks = (date: string): string => String((BigInt(Date.parse(date)) + 11_644_473_600_000n) * 10_000n);
  const cases: [attributes: Record<string, string[]>, problem: string | undefined][] = [
    [{}, undefined],
    [{ userAccountControl: ['512'] }, undefined],
    [{ userAccountControl: ['514'] }, 'the account is disabled'],
    [{ lockoutTime: ['0'] }, undefined],
    [{ lockoutTime: ['133500000000000000'] }, 'the account is locked'],
    [{ lockoutTime: ['133500000000000000'], 'msDS-User-Account-Control-Computed': ['0'] }, undefined],
    [{ 'msDS-User-Account-Control-Computed': ['16'] }, 'the account is locked'],
    [{ 'msDS-User-Account-Control-Computed': ['8388608'] }, 'the password has expired'],
    [{ accountExpires: ['0'] }, undefined],
    [{ accountExpires: ['9223372036854775807'] }, undefined],
    [{ accountExpires: [ticks('2030-01-01T00:00:01Z')] }, undefined],
    [{ accountExpires: [ticks('2030-01-01T00:00:00Z')] }, 'the account has expired'],
    [{ pwdAccountLockedTime: ['000001010000Z'] }, 'the account is locked'],
    [{ nsAccountLock: ['TRUE'] }, 'the account is locked'],
    [{ nsAccountLock: ['false'] }, undefined],
  ];
  test.each(cases)('%j: %s', (attributes, problem) => {
    expect(accountProblem(entry(bob, attributes), now)).toBe(problem);
  });
});
