import { Text } from '@mantine/core';
import { To } from '../../parts/to.tsx';
import { Card } from '../login/card.tsx';

/** `/init` and `/unseal` of a server that needs neither: the gate shows what it needs instead of any page. */
export default function ReadyPage() {
  return (
    <Card title="The server is ready">
      <Text size="sm">
        It has its keys and is unsealed. <To to="/">Open the console</To>
      </Text>
    </Card>
  );
}
