import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { foldName } from '@strongroom/engine-sdk';
import { describeWithSlapd, startSlapd, type Slapd } from '@strongroom/lab';
import fc from 'fast-check';
import { mounted, people, serviceConfig, type MountedLdap } from './mounted.ts';

/** As the directory has them: two words, an accent, a name that the operator typed with two spaces and capitals. */
const persons = ['user one', 'josé ñandú', 'Ann  MARIE Ångström'];
const plain = [...persons, 'mary', 'ann marie'];
const person = (uid: string, more = `cn: ${uid}`) => `dn: uid=${uid},${people}
objectClass: inetOrgPerson
uid: ${uid}
${more}
sn: s
userPassword: right
`;
const ldif = [
  ...plain.map((uid) => person(uid)),
  person('twice', 'uid: zweimal\ncn: t'),
  person('lee', 'cn: l\nmail: lee@example.org'),
  person('eve', 'cn: e\nmail: eve@example.org\nemployeeNumber: mary'),
].join('\n');

const spaces = [' ', '\u00a0', '\u3000', '\u2003'];
const width = (char: string): string =>
  /[!-~]/.test(char) ? String.fromCodePoint(char.codePointAt(0)! + 0xfee0) : char === ' ' ? '\u3000' : char;

/** Variants that a directory takes for the name: case, kinds and numbers of spaces, full-width letters, accents composed or not. */
function variantsOf(name: string): fc.Arbitrary<string> {
  const letter = (char: string): fc.Arbitrary<string> => {
    if (char === ' ') return fc.array(fc.constantFrom(...spaces), { minLength: 1, maxLength: 3 }).map((run) => run.join(''));
    const cased = fc.constantFrom(char.toLowerCase(), char.toUpperCase());
    return fc
      .tuple(cased, fc.constantFrom('as it is', 'wide', 'NFD', 'NFC'))
      .map(([one, form]) => (form === 'wide' ? width(one) : form === 'as it is' ? one : one.normalize(form)));
  };
  const around = fc.array(fc.constantFrom(...spaces), { maxLength: 2 }).map((run) => run.join(''));
  const inner = fc.tuple(...[...name.normalize('NFC').replace(/ +/g, ' ')].map(letter)).map((letters) => letters.join(''));
  return fc.tuple(around, inner, around).map((parts) => parts.join(''));
}

describeWithSlapd('one person, one identity', () => {
  let slapd: Slapd;
  let mount: MountedLdap;
  let ways: [title: string, config: Record<string, unknown>][];

  beforeAll(async () => {
    slapd = await startSlapd({ ldif, config: 'access to attrs=userPassword by anonymous auth by * none\naccess to * by * read' });
    const nobody = { binddn: '', bindpass: '' };
    ways = [
      ['a service account', {}],
      ['username_as_alias', { username_as_alias: true }],
      ['discoverdn', { ...nobody, discoverdn: true }],
      ['case_sensitive_names', { case_sensitive_names: true, username_as_alias: true }],
      ['no search', nobody],
      ['no search and username_as_alias', { ...nobody, username_as_alias: true }],
    ];
  });
  afterAll(() => slapd?.stop());

  beforeEach(async () => {
    mount = await mounted();
    await mount.write('config', serviceConfig(slapd));
  });
  afterEach(() => mount.close());

  const login = (username: string, password = 'right') => mount.login(username, { password });
  const entityOf = async (username: string): Promise<string> => {
    const answer = await login(username);
    expect({ username, status: answer.status, errors: answer.errors }).toMatchObject({ username, status: 200 });
    return answer.auth!.entity_id;
  };
  const aliasesOf = async (entity: string): Promise<{ name: string }[]> =>
    ((await mount.call('read', `identity/entity/id/${entity}`)).data as { aliases: { name: string }[] }).aliases;
  const disable = async (entity: string) => mount.call('update', `identity/entity/id/${entity}`, { data: { disabled: true } });
  const accessor = async (): Promise<string> =>
    ((await mount.call('read', 'sys/auth')).data as Record<string, { accessor: string }>)['ldap/']!.accessor;
  const locked = async (): Promise<string[]> => {
    const { data } = await mount.call('read', 'sys/locked-users');
    return (data as { by_namespace: { mount_accessors: { alias_identifiers: string[] }[] }[] }).by_namespace.flatMap(
      ({ mount_accessors }) => mount_accessors.flatMap(({ alias_identifiers }) => alias_identifiers),
    );
  };

  test('in whatever variant a user logs in, and however the directory is searched, it is one entity, one mapping and one name of the token', async () => {
    for (const [title, config] of ways) {
      await mount.close();
      mount = await mounted();
      await mount.write('config', { ...serviceConfig(slapd), ...config });
      for (const name of persons) {
        await mount.write(`users/${name}`, { policies: 'mapped' });
        const entity = await entityOf(name);
        const folded = foldName(name, { keepCase: config['case_sensitive_names'] === true });
        await fc.assert(
          fc.asyncProperty(variantsOf(name), async (variant) => {
            const { status, auth } = await login(variant);
            expect({ title, variant, status, entity: auth?.entity_id, policies: auth?.policies, meta: auth?.metadata }).toEqual({
              ...{ title, variant, status: 200, entity, policies: ['default', 'mapped'], meta: { username: folded } },
            });
          }),
          { numRuns: 25 },
        );
        expect(await aliasesOf(entity)).toHaveLength(1);
      }
    }
  });

  test('variants share the tries: five wrong passwords lock the name in all of them, also of somebody who does not exist', async () => {
    for (const name of [...persons, 'no such Üser']) {
      await fc.assert(
        fc.asyncProperty(fc.array(variantsOf(name), { minLength: 6, maxLength: 6 }), async (variants) => {
          await mount.call('update', `sys/locked-users/${await accessor()}/unlock/${name}`, { data: {} });
          for (const variant of variants.slice(0, 5)) expect(await login(variant, 'wrong')).toMatchObject({ status: 400 });
          expect(await login(variants[5]!, 'right')).toMatchObject({ status: 403, errors: ['permission denied'] });
          expect(await locked()).toContain(foldName(name));
        }),
        { numRuns: 4 },
      );
    }
    expect((await locked()).sort()).toEqual([...persons, 'no such Üser'].map((name) => foldName(name)).sort());
  });

  test('a disabled entity is walked around by no variant', async () => {
    for (const [title, config] of ways) {
      await mount.close();
      mount = await mounted();
      await mount.write('config', { ...serviceConfig(slapd), ...config });
      await disable(await entityOf('user one'));
      await fc.assert(
        fc.asyncProperty(variantsOf('user one'), async (variant) => {
          const { status } = await login(variant);
          expect({ title, variant, status }).toEqual({ title, variant, status: 403 });
        }),
        { numRuns: 20 },
      );
    }
  });

  test('who is found by another name than userattr is known, and counted, by userattr', async () => {
    await mount.write('config', { userfilter: '(|({{.UserAttr}}={{.Username}})(mail={{.Username}}))' });
    await mount.write('users/lee', { policies: 'mapped' });
    const byName = await login('lee');
    const byMail = await login('LEE@example.org');
    expect(byMail.auth).toMatchObject({
      entity_id: byName.auth!.entity_id,
      policies: ['default', 'mapped'],
      metadata: { username: 'lee' },
    });
    expect(await mount.renew(byMail.auth!.client_token)).toMatchObject({ status: 200 });
    for (const name of ['lee', 'lee@example.org', 'lee', 'lee@example.org', 'Lee@example.org'])
      expect(await login(name, 'wrong')).toMatchObject({ status: 400 });
    expect(await login('lee@example.org')).toMatchObject({ status: 403 });
    expect(await login('lee')).toMatchObject({ status: 403 });
  });

  test('a value that another entry has as well gives nobody the name, the mapping or the entity of that one', async () => {
    await mount.write('config', {
      userattr: 'employeenumber',
      userfilter: '(|(uid={{.Username}})(employeeNumber={{.Username}}))',
      username_as_alias: true,
    });
    await mount.write('users/mary', { policies: 'hers' });
    const mary = await entityOf('ann marie');
    // `mary` finds two entries, so that no login has it proven.
    expect(await login('mary')).toMatchObject({ status: 400 });
    const { auth } = await login('eve');
    expect(auth).toMatchObject({ policies: ['default'], metadata: { username: 'eve' } });
    expect(auth!.entity_id).not.toBe(mary);
    expect(await aliasesOf(auth!.entity_id)).toMatchObject([{ name: 'eve' }]);
  });

  test('nor does a login with such a value forget the wrong passwords of that name', async () => {
    for (let tries = 0; tries < 4; tries += 1) expect(await login('mary', 'wrong')).toMatchObject({ status: 400 });
    await mount.write('config', {
      userattr: 'employeenumber',
      userfilter: '(|(uid={{.Username}})(employeeNumber={{.Username}}))',
      username_as_alias: true,
    });
    expect(await login('eve')).toMatchObject({ status: 200 });
    expect(await login('mary', 'wrong')).toMatchObject({ status: 400 });
    expect(await locked()).toEqual(['mary']);
  });

  test('with username_as_alias, who has several values of userattr is known by the first one that was given, for as long as it is there', async () => {
    expect(await login('twice')).toMatchObject({ status: 400 });
    await mount.write('config', { username_as_alias: true });
    await mount.write('users/twice', { policies: 'mapped' });
    const first = (await login(' TWICE ')).auth!;
    const second = (await login('zweimal')).auth!;
    for (const auth of [first, second])
      expect(auth).toMatchObject({ entity_id: first.entity_id, policies: ['default', 'mapped'], metadata: { username: 'twice' } });
    expect(await mount.renew(second.client_token)).toMatchObject({ status: 200 });
    for (const name of ['twice', 'zweimal', 'TWICE', 'ZweiMal', 'twice']) await login(name, 'wrong');
    expect(await login('zweimal')).toMatchObject({ status: 403 });
    expect(await login('twice')).toMatchObject({ status: 403 });
  });

  test('aliases that an earlier version made of what was typed are found in every variant, and a disabled one bars them all', async () => {
    await mount.write('config', { username_as_alias: true });
    const name = 'user\u00a0\u00a0ONE';
    const old = await mount.call('update', 'identity/entity-alias', { data: { name, mount_accessor: await accessor() } });
    const { canonical_id } = old.data as { canonical_id: string };
    expect([await entityOf('user one'), await entityOf('ＵＳＥＲ one')]).toEqual([canonical_id, canonical_id]);
    expect(await aliasesOf(canonical_id)).toMatchObject([{ name }]);
    const other = await mount.call('update', 'identity/entity-alias', { data: { name: 'user one', mount_accessor: await accessor() } });
    expect(await entityOf('user one')).toBe((other.data as { canonical_id: string }).canonical_id);
    await disable(canonical_id);
    for (const variant of ['user one', 'User  One', name]) expect(await login(variant)).toMatchObject({ status: 403 });
  });

  test('without a search the directory is asked who has bound; where it does not say, all variants fold to one name', async () => {
    const silent = await startSlapd({ ldif, config: 'access to attrs=userPassword by anonymous auth by * none\naccess to * by * none' });
    try {
      await mount.write('config', { url: silent.url, binddn: '', bindpass: '', groupdn: '' });
      const entity = await entityOf('user one');
      expect(await aliasesOf(entity)).toMatchObject([{ name: `uid=user one,${people}` }]);
      expect([await entityOf('ＵＳＥＲ  ONE'), await entityOf('user\u00a0one')]).toEqual([entity, entity]);
    } finally {
      await silent.stop();
    }
  });

  test('a login in a folded variant is renewed like any other, with a search and without', async () => {
    await mount.write('users/user one', { policies: 'mapped' });
    for (const config of [{}, { binddn: '', bindpass: '' }]) {
      await mount.write('config', config);
      const { auth } = await login('ＵＳＥＲ \u00a0 one');
      expect((await mount.renew(auth!.client_token)).auth).toMatchObject({ policies: ['default', 'mapped'] });
    }
  });

  test('the directory gets the name as it was typed, without its domain', async () => {
    await mount.write('config', { netbiosname: 'CORP' });
    expect((await login('CORP\\Mary')).auth).toMatchObject({ metadata: { username: 'mary' } });
    await login('corp\\NoSuch');
    expect(mount.lines.at(-1)!.fields).toMatchObject({ filter: '(uid=NoSuch)' });
    for (const name of ['mary', 'CORP\\mary', 'corp\\MARY', 'Mary', ' mary']) await login(name, 'wrong');
    expect(await locked()).toEqual(['mary']);
  });
});
