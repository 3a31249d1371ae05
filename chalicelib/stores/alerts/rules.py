from chalicelib.domain.alerts.rule import AlertRule
from chalicelib.stores.documents import Documents
from chalicelib.stores.tables import document_table

AlertRuleRows = document_table("alert-rules")


class AlertRules(Documents[AlertRule]):
    table, entity, noun = AlertRuleRows, AlertRule, "alert_rule"
