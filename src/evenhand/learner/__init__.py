"""What learns and decides: arms, state, policy and engine, held by the agent and the service."""
