import { Code, Stack, Text } from '@mantine/core';
import type { Explanation, RuleSource } from '../api/explanation.ts';
import { CopyButton } from './copy-button.tsx';
import classes from './explanation.module.css';
import { StateChip } from './state-chip.tsx';
import { To } from './to.tsx';

interface ExplanationProps {
  readonly explanation: Explanation;
  /** The name of a policy that is a draft, so that no page shows it. */
  readonly draft?: string | undefined;
}

/** Why a call is allowed or refused: the verdict, the rule with its policy and line, what is missing, and a block that would allow it. */
export function ExplanationView({ explanation, draft }: ExplanationProps) {
  const { allowed, reason, rule, nearest, missing, suggestion } = explanation;
  return (
    <div>
      <div className={classes.verdict}>
        <StateChip mood={allowed ? 'good' : 'bad'}>{allowed ? 'allowed' : 'refused'}</StateChip>
        <Text span size="sm">
          {reason}
        </Text>
      </div>
      {rule?.sources && <Sources sources={rule.sources} path={rule.path} draft={draft} />}
      {missing !== undefined && (
        <Text size="sm" mb={8}>
          Missing: <strong>{missing}</strong>
        </Text>
      )}
      {nearest?.sources && (
        <>
          <Text size="sm">The rule that comes closest:</Text>
          <Sources sources={nearest.sources} path={nearest.path} draft={draft} />
        </>
      )}
      {suggestion !== undefined && (
        <Stack gap={4}>
          <Text size="sm">This block would allow it:</Text>
          <div className={classes.block}>
            <Code block tabIndex={0}>
              {suggestion}
            </Code>
            <CopyButton icon value={suggestion} label="Copy the block" />
          </div>
        </Stack>
      )}
    </div>
  );
}

function Sources({
  sources,
  path,
  draft,
}: {
  readonly sources: readonly RuleSource[];
  readonly path: string;
  readonly draft: string | undefined;
}) {
  return (
    <ul className={classes.sources}>
      {sources.map((source) => (
        <li key={`${source.policy}:${source.line}:${source.column}`}>
          <PolicyLine policy={source.policy} line={source.line} draft={draft} />
          <Code>{`path ${JSON.stringify(path)} { capabilities = [${source.capabilities.map((one) => JSON.stringify(one)).join(', ')}] }`}</Code>
        </li>
      ))}
    </ul>
  );
}

/** `dev, line 4`, which opens the policy there. */
export function PolicyLine({
  policy,
  line,
  draft,
}: {
  readonly policy: string;
  readonly line: number;
  readonly draft?: string | undefined;
}) {
  const text = `${policy}, line ${line}`;
  return (
    <>
      {policy === draft ? (
        <span>{`draft of ${text}`}</span>
      ) : (
        <To to="/access/policies/$name" params={{ name: policy }} search={{ line }}>
          {text}
        </To>
      )}{' '}
    </>
  );
}
