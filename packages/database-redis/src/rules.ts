import { StatementInvalid } from '@strongroom/database-sdk';

/** What operators need not write: reading of every key. */
export const DEFAULT_RULES = ['["~*","+@read"]'];

const PLACEHOLDER = /\{\{(\w+)\}\}/g;
/** Without the characters that mean something in a pattern, in a rule or to the server's own files. */
const SAFE_IN_PATTERN = /^[\p{L}\p{N}_.@+=:-]*$/u;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The ACL rules of creation statements, each of which is a JSON array of rules (or base64 of one); of several, all rules in order. In the
 * patterns of keys and channels `{{name}}` and `{{username}}` are the user, whose name must not contain characters with a meaning in patterns.
 * Throws StatementInvalid.
 */
export function aclRules(commands: readonly string[], username: string): string[] {
  const statements = commands.filter((command) => command.trim() !== '');
  return (statements.length > 0 ? statements : DEFAULT_RULES).flatMap((statement) =>
    parse(statement).map((rule) => render(rule, username)),
  );
}

function parse(statement: string): string[] {
  const text = statement.trim();
  const parsed = parseJson(BASE64.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64').toString('utf8') : text);
  if (Array.isArray(parsed) && parsed.every((rule) => typeof rule === 'string')) return parsed;
  throw new StatementInvalid('a creation statement must be a JSON array of ACL rules, such as ["~*", "+@read"]');
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function render(rule: string, username: string): string {
  return rule.replace(/\S+/g, (word) =>
    word.replace(PLACEHOLDER, (placeholder, key: string) => {
      // A word of a selector, `(~app:* +get)`, may open it.
      if ((key !== 'name' && key !== 'username') || !/^\(?[~%&]/.test(word)) {
        throw new StatementInvalid(
          `${placeholder} cannot be used in an ACL rule; {{name}} and {{username}} can, in patterns of keys and channels`,
        );
      }
      if (!SAFE_IN_PATTERN.test(username))
        throw new StatementInvalid(`the value of ${placeholder} holds characters that are not safe in a pattern`);
      return username;
    }),
  );
}
