import { expect, test } from '@jest/globals';
import { databasePluginDeclaration, usual } from '@strongroom/database-testkit';
import { CREATION_DEFAULT, PASSWORD_CHANGE_DEFAULT, REVOCATION_DEFAULT } from '../src/default-statements.ts';
import { Neo4jConnection, neo4jPlugin } from '../src/index.ts';

databasePluginDeclaration(
  { test },
  {
    connection: Neo4jConnection,
    parameters: { connection_url: undefined, username: undefined, password: undefined, tls_ca: undefined, username_template: undefined },
    secrets: ['password'],
    statements: [
      ['creation_statements', CREATION_DEFAULT, ['CREATE USER {{name}} SET PASSWORD {{password}} CHANGE NOT REQUIRED']],
      [
        'rotation_statements, root_rotation_statements',
        PASSWORD_CHANGE_DEFAULT,
        ['ALTER USER {{username}} SET PASSWORD {{password}} CHANGE NOT REQUIRED'],
      ],
      ['revocation_statements', REVOCATION_DEFAULT, ['DROP USER {{name}} IF EXISTS']],
    ],
    plugins: [
      {
        plugin: neo4jPlugin,
        name: 'neo4j-database-plugin',
        usual: /^v-token-r-[A-Za-z0-9]{20}-1795250515$/,
        longest: /^v-d{15}-r{15}-[A-Za-z0-9]{20}-1795250515$/,
        limit: undefined,
      },
    ],
  },
);

const preview = (...commands: string[]): readonly string[] =>
  neo4jPlugin.preview!({ username: 'u', credential: usual.credential, statements: { commands }, expiresAt: usual.expiresAt });

test('a placeholder becomes a parameter with the quotes around it, and a longer quoted text as a whole', () => {
  expect(preview("CREATE USER `a-{{name}}` SET PASSWORD '{{password}}'; ALTER USER {{username}} SET HOME DATABASE x")).toEqual([
    `CREATE USER $text1 SET PASSWORD $password {"text1":"a-u","password":"${usual.password}"}`,
    'ALTER USER $username SET HOME DATABASE x {"username":"u"}',
  ]);
});

test.each([
  ["a '{{name}}\\'' b", 'must not contain a backslash or an escaped quote'],
  ['a // {{password}}', 'a comment in a statement contains a placeholder'],
  ['a {{expires}}', 'a statement uses {{expires}}'],
  ["a '{{subject}}'", 'a statement uses {{subject}}, which has no value here'],
  [' ; ', 'empty creation statements'],
])('the statement %j is refused', (statement, text) => {
  expect(() => preview(statement)).toThrow(text);
});

test('what every user may do in the Community Edition is said where a connection is written, and a role without a GRANT', () => {
  const text = "In Neo4j's Community Edition every user has all rights on all data; only the Enterprise Edition has roles and privileges.";
  expect(neo4jPlugin.cautions!()).toEqual([text]);
  expect(neo4jPlugin.cautions!({ commands: [] })).toEqual([text]);
  expect(neo4jPlugin.cautions!({ commands: ['CREATE USER {{name}} SET PASSWORD {{password}}; GRANT ROLE reader TO {{name}}'] })).toEqual(
    [],
  );
});
