"""Campaigns: durable runs for experiments that take days and several hands."""

from causalfocus.campaign.campaign import Campaign
from causalfocus.campaign.events import Event
from causalfocus.campaign.file import CampaignError
from causalfocus.campaign.playback import Asked, LogError
from causalfocus.campaign.specification import Specification

__all__ = ["Asked", "Campaign", "CampaignError", "Event", "LogError", "Specification"]
